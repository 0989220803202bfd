here.getDB('app').odd.drop();
