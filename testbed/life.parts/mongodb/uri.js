// The application of the Secret, through the URI that it has. In: /secret, and `app`, its database.
const uri = require('fs').readFileSync('/secret/uri', 'utf8');
const client = new Mongo(`${uri}&serverSelectionTimeoutMS=15000`);
const app = client.getDB(require('fs').readFileSync('/secret/database', 'utf8'));
