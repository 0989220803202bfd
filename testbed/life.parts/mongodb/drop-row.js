here.getDB('app').numbered.deleteOne({ _id: Number(words[0]) }, { writeConcern: { w: 'majority' } });
