// What a backup has to bring back, beside the numbered rows: written by the application's user.
const majority = { writeConcern: { w: 'majority' } };
app.createCollection('numbered');
app.createCollection('customers', { validator: { $jsonSchema: { required: ['name'], properties: { name: { bsonType: 'string' } } } }, collation: { locale: 'de', strength: 2 } });
app.customers.createIndex({ name: 1 }, { unique: true });
app.customers.createIndex({ seen: 1 }, { expireAfterSeconds: 315360000 });
app.customers.insertMany([
  { name: 'Ünïcode 漢字 🐘', tags: ['a', null, { b: 2.5 }], picture: BinData(0, 'AP8QDQoaJw==') },
  { name: 'Tab\tand\nline\\ quote\' "', tags: [], seen: new Date(0) },
], majority);
app.items.insertMany([...Array(400).keys()].map((n) => ({ _id: n, customer: n % 2, price: Decimal128(`${n}.07`), pieces: NumberLong(String(n % 9)) })), majority);
app.items.createIndex({ customer: 1, price: -1 }, { partialFilterExpression: { pieces: { $gt: 3 } } });
app.items.createIndex({ '$**': 1 });
app.odd.insertMany([{ _id: 1, long: NumberLong('9007199254740993'), exact: Decimal128('12345678901234567890.123456789'), stamp: Timestamp({ t: 1, i: 2 }), pattern: /a.b/i, low: MinKey(), high: MaxKey(), code: Code('return 1') }, { _id: 'empty' }], majority);
app.createView('open', 'items', [{ $match: { pieces: { $gt: 3 } } }, { $group: { _id: '$customer', total: { $sum: '$price' } } }]);
app.createCollection('measured', { timeseries: { timeField: 'at', metaField: 'of' } });
app.measured.insertMany([...Array(100).keys()].map((n) => ({ at: new Date(1000 * n), of: n % 3, value: n })), majority);
