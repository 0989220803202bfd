const voters = admin.runCommand({ replSetGetConfig: 1 }).config.members.filter((member) => member.votes > 0).map((member) => member.host);
print(admin.runCommand({ replSetGetStatus: 1 }).members.filter((member) => member.state === 2 && member.health === 1 && voters.includes(member.name)).length);
