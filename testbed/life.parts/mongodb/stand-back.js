if (admin.runCommand({ hello: 1 }).isWritablePrimary) admin.runCommand({ replSetStepDown: 30, secondaryCatchUpPeriodSecs: 20 });
else admin.runCommand({ replSetFreeze: 30 });
