// The runs of the explorer: from which world, with how many of each event at most. `short` are those of every test run. Three agents, three
// servers; a run ends when every interleaving within its bound was seen. `whole`: where
// nothing can happen any more and somebody leads, the set has to be whole.
'use strict';
module.exports.runs = [
  { short: true, name: 'three empty volumes, one crash', from: 'nothing', bounds: { crash: 1 }, whole: true },
  { short: true, name: 'all pods made anew, the volume of ordinal 0 lost', from: 'lost-first', bounds: { elect: 2, cut: 1 }, whole: true },
  { short: true, name: 'a set of three: crash, lost volume, election, write', from: 'formed', bounds: { crash: 1, empty: 1, elect: 1, write: 1 }, whole: true },
  { short: true, name: 'a set of two: crash, lost volume, elections, write, cut', from: 'pair', bounds: { crash: 1, empty: 1, elect: 2, write: 1, cut: 1 }, whole: true },
  { short: true, name: 'a volume of another set', from: 'stranger', bounds: { elect: 1, crash: 1, cut: 1 } },
  { name: 'three empty volumes, a crash, lost data or volume, an election', from: 'nothing', bounds: { crash: 1, empty: 1, wipe: 1, elect: 1 } },
  { name: 'a set of three: two crashes, lost volume, two elections, write', from: 'formed', bounds: { crash: 2, empty: 1, elect: 2, write: 1 }, whole: true },
  { name: 'a set of three: crash, lost volume, election, write, cut', from: 'formed', bounds: { crash: 1, empty: 1, elect: 1, write: 1, cut: 1 }, whole: true },
  { name: 'all pods made anew, the volume of ordinal 0 lost: crash, elections, write', from: 'lost-first', bounds: { elect: 2, write: 1, crash: 1 }, whole: true },
  { name: 'three to one and back, a crash, an election', from: 'formed', bounds: { scale: 2, crash: 1, elect: 1 }, whole: true },
  { name: 'three to one and back, the highest leads', from: 'scaled', bounds: { scale: 2, elect: 2 }, whole: true },
  { name: 'a set of two to one: two crashes, lost volume, election, write', from: 'pair', bounds: { crash: 2, empty: 1, elect: 1, write: 1, scale: 1 } },
];
