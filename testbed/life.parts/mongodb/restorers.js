print(admin.runCommand({ usersInfo: 'restore' }).users.length);
