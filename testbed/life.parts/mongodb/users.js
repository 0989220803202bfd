// A second database and a user of somebody else.
const second = here.getDB('second');
second.createCollection('capped', { capped: true, size: 100000, max: 50 });
for (let n = 0; n < 60; n++) second.capped.insertOne({ n });
admin.createRole({ role: 'reads', privileges: [{ resource: { db: 'second', collection: '' }, actions: ['find'] }], roles: [] });
admin.createUser({ user: 'reporting', pwd: 'reporting', roles: ['reads'] });
