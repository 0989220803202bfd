// Users and passwords, on the member that leads. A password is only ever a value in a command to this pod's own server.
'use strict';

// Our users, and what they may do. `database` is the application's.
function users(facts, restoring) {
  const role = (name, db = 'admin') => ({ role: name, db });
  const all = [
    { user: 'root', file: 'root-password', roles: [role('root')] },
    { user: 'backup', file: 'backup-password', roles: [role('backup'), role('clusterMonitor')] },
    { user: 'monitor', file: 'monitor-password', roles: [role('clusterMonitor'), role('read', 'local')] },
  ];
  // Nobody may write before a restore has filled the database.
  if (restoring) all.push({ user: 'restore', file: 'restore-password', roles: [role('root'), role('dbrenderRestore')] });
  else all.push({ user: facts.APP_USERNAME, file: 'app-password', roles: [role('dbOwner', facts.APP_DATABASE)] });
  return all;
}

// plan: the commands that make the server's users what they are to be. Pure.
//   present: names of the users that are there; accepted: name to true (the mounted password is right), false, or undefined (not known)
function plan(facts, restoring, present, accepted, passwordOf) {
  const steps = [];
  const wanted = users(facts, restoring);
  const majority = { w: 'majority', wtimeout: 15000 };
  for (const { user, file, roles } of wanted) {
    if (!present.includes(user)) {
      if (user === 'restore') steps.push({ say: '', command: { createRole: 'dbrenderRestore', privileges: [{ resource: { anyResource: true }, actions: ['anyAction'] }], roles: [], writeConcern: majority }, may: 51002 });
      steps.push({ say: `Made the user ${user}.`, command: { createUser: user, pwd: passwordOf(file), roles, writeConcern: majority } });
    } else if (accepted[user] === false) {
      steps.push({ say: `The password of ${user} was changed to the one in ${file}.`, command: { updateUser: user, pwd: passwordOf(file), writeConcern: majority } });
    }
  }
  if (!restoring && present.includes('restore')) {
    steps.push({ say: 'The user restore is gone.', command: { dropUser: 'restore', writeConcern: majority } });
    steps.push({ say: '', command: { dropRole: 'dbrenderRestore', writeConcern: majority }, may: 31 });
  }
  return steps;
}

// asked: { run(command), first(command), accepts(user, password), password(file), say }
//   first: a command from a connection without a login: the localhost exception, which ends with the first user
// Out: null when all is settled, or a sentence why it has to be tried again.
async function follow(asked, facts, restoring) {
  const present = ((await asked.run({ usersInfo: 1 })).users || []).map((found) => found.user);
  const accepted = {};
  let complaint = null;
  const usable = [];
  for (const each of users(facts, restoring)) {
    try {
      const secret = asked.password(each.file);
      usable.push(each.file);
      if (present.includes(each.user)) accepted[each.user] = await asked.accepts(each.user, secret);
    } catch (error) {
      complaint = error.message;
    }
  }
  for (const step of plan(facts, restoring, present, accepted, (file) => (usable.includes(file) ? asked.password(file) : null))) {
    if (step.command.pwd === null) continue;
    try {
      if (!present.length && step.command.createUser === 'root') await asked.first(step.command);
      else await asked.run(step.command);
      if (step.say) asked.say(step.say);
    } catch (error) {
      if (error.code !== step.may) return `The server's users could not be settled: ${error.codeName || error.message}.`;
    }
  }
  return complaint;
}

module.exports = { users, plan, follow };
