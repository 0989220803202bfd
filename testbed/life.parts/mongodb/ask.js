print(admin.runCommand({ hello: 1 }).isWritablePrimary ? 't' : 'f');
