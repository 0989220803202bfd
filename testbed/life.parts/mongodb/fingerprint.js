// Collections with their options and indexes, and a sum of their documents as they are stored.
const crypto = require('crypto');
for (const { name } of admin.runCommand({ listDatabases: 1, nameOnly: true }).databases) {
  if (['admin', 'config', 'local', 'dbrender'].includes(name)) continue;
  const database = here.getDB(name);
  for (const each of database.getCollectionInfos()) {
    if (each.name.startsWith('system.')) continue;
    const { uuid, ...info } = each.info || {};
    print(`${name}.${each.name} is a ${each.type}: ${EJSON.stringify(each.options)} ${EJSON.stringify(info)}`);
    if (each.type === 'view') continue;
    for (const index of database.getCollection(each.name).getIndexes()) print(`${name}.${each.name} index ${EJSON.stringify(index)}`);
    const sums = database.getCollection(each.name).find().toArray().map((document) => crypto.createHash('sha256').update(EJSON.stringify(document, { relaxed: false })).digest('hex')).sort();
    print(`rows of ${name}.${each.name}: ${sums.length} ${crypto.createHash('sha256').update(sums.join()).digest('hex')}`);
  }
}
