// Reads an archive of mongodump from its first byte to its last, without loading it: the format that mongo-tools describe in
// common/archive/spec.md. In: the archive, unpacked, on stdin. Out: one line for each collection, `database.collection<TAB>documents`; an
// archive that is cut short, or lacks the end of a collection, is an error.
'use strict';
const fs = require('fs');

const MAGIC = 0x8199e26d;
const TERMINATOR = 0xffffffff;
const LARGEST = 64 * 1024 * 1024;

// read(size): that many bytes, fewer only at the end.
function reader(descriptor) {
  let held = Buffer.alloc(0);
  const chunk = Buffer.alloc(1024 * 1024);
  let ended = false;
  return (size) => {
    const parts = [held];
    let have = held.length;
    while (have < size && !ended) {
      const got = fs.readSync(descriptor, chunk, 0, chunk.length, null);
      if (got === 0) ended = true;
      else { parts.push(Buffer.from(chunk.subarray(0, got))); have += got; }
    }
    const whole = parts.length === 1 ? held : Buffer.concat(parts);
    held = whole.subarray(size);
    return whole.subarray(0, size);
  };
}

// The texts and truths of a document's first level; nothing else of it is looked at.
function fields(document) {
  const found = {};
  let at = 4;
  const sized = { 0x01: 8, 0x07: 12, 0x08: 1, 0x09: 8, 0x0a: 0, 0x10: 4, 0x11: 8, 0x12: 8, 0x13: 16 };
  while (document[at] !== 0) {
    const type = document[at];
    const end = document.indexOf(0, at + 1);
    const name = document.toString('utf8', at + 1, end);
    at = end + 1;
    if (type === 0x02) {
      const size = document.readInt32LE(at);
      found[name] = document.toString('utf8', at + 4, at + 3 + size);
      at += 4 + size;
    } else if (type === 0x03 || type === 0x04) at += document.readInt32LE(at);
    else if (type === 0x08) { found[name] = document[at] === 1; at += 1; }
    else if (sized[type] !== undefined) at += sized[type];
    else throw new Error(`a header of the archive holds a field of type ${type}`);
  }
  return found;
}

// collections: Map of name to { documents, ended }.
function readArchive(descriptor) {
  const read = reader(descriptor);
  // the next document; null for a terminator; undefined at the very end
  function next(what, mayEnd) {
    const head = read(4);
    if (head.length === 0 && mayEnd) return undefined;
    if (head.length < 4) throw new Error(`the archive ends within ${what}`);
    if (head.readUInt32LE(0) === TERMINATOR) return null;
    const size = head.readInt32LE(0);
    if (size < 5 || size > LARGEST) throw new Error(`the archive holds a document of ${size} bytes in ${what}`);
    const rest = read(size - 4);
    if (rest.length < size - 4 || rest[rest.length - 1] !== 0) throw new Error(`the archive ends within ${what}`);
    return Buffer.concat([head, rest]);
  }
  const magic = read(4);
  if (magic.length < 4 || magic.readUInt32LE(0) !== MAGIC) throw new Error('this is no archive of mongodump');
  const header = next('its header');
  if (!header) throw new Error('the archive has no header');
  const { version, server_version: server } = fields(header);
  while (next('its list of collections'));
  const collections = new Map();
  const named = ({ db, collection }) => (db ? `${db}.${collection}` : collection);
  for (;;) {
    const document = next('a collection', true);
    if (document === undefined) break;
    if (document === null) throw new Error('the archive has a collection without a name');
    const head = fields(document);
    const name = named(head);
    const now = collections.get(name) || { documents: 0, ended: false };
    if (now.ended) throw new Error(`the archive goes on with ${name} after its end`);
    collections.set(name, now);
    if (head.EOF) now.ended = true;
    while (next(name)) {
      if (head.EOF) throw new Error(`the archive has documents after the end of ${name}`);
      now.documents += 1;
    }
  }
  for (const [name, { ended }] of collections) if (!ended) throw new Error(`the archive lacks the end of ${name}`);
  return { version, server, collections };
}

function main() {
  try {
    const { collections } = readArchive(fs.openSync('/dev/stdin', 'r'));
    const lines = [...collections].map(([name, { documents }]) => `${name}\t${documents}\n`);
    fs.writeSync(1, lines.sort().join(''));
    process.exit(0);
  } catch (error) {
    fs.writeSync(2, `error: ${error.message}\n`);
    process.exit(1);
  }
}

module.exports = { readArchive, main };
