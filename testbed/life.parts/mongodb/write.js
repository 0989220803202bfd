// One row after the other, until something goes wrong. The number of a row that was not acknowledged is used up.
const fs = require('fs');
const crypto = require('crypto');
const { NUMBER, STEP } = process.env;
const next = `/rows/next.${NUMBER}`;
let row = fs.existsSync(next) ? Number(fs.readFileSync(next, 'utf8')) : Number(NUMBER);
while (!fs.existsSync('/rows/stop')) {
  fs.writeFileSync(next, String(row + Number(STEP)));
  const sent = Date.now() * 1000;
  app.numbered.insertOne({ _id: row, payload: crypto.createHash('sha256').update(String(row)).digest('hex') }, { writeConcern: { w: 'majority', wtimeout: 15000 } });
  fs.appendFileSync(`/rows/acknowledged.${NUMBER}`, `${sent} ${Date.now() * 1000} ${row}\n`);
  row += Number(STEP);
}
