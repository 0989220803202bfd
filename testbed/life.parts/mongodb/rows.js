const hash = (n) => require('crypto').createHash('sha256').update(String(n)).digest('hex');
app.numbered.find({}, {}, { readConcern: { level: 'majority' } }).forEach((row) => { if (row.payload === hash(row._id)) print(row._id); });
