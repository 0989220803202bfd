// Root of this member's own server. In: the pod's files.
const secret = require('fs').readFileSync('/etc/dbrender/credentials/root-password', 'utf8');
const here = new Mongo(`mongodb://root:${encodeURIComponent(secret)}@127.0.0.1:27017/?authSource=admin&directConnection=true&serverSelectionTimeoutMS=5000`);
const admin = here.getDB('admin');
const words = (process.env.WORDS || '').split(' ');
