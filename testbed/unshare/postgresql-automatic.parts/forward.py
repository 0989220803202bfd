"""Forwards TCP connections from an address in this network namespace to one in another.

usage: forward.py LISTEN_ADDRESS LISTEN_PORT TARGET_ADDRESS TARGET_PORT FD
FD is an open file of the other network namespace. A socket stays in the namespace in which it was made.
"""

import ctypes
import os
import socket
import sys
import threading

listen_address, listen_port, target_address, target_port, fd = sys.argv[1:]
listener = socket.create_server((listen_address, int(listen_port)))
if ctypes.CDLL(None, use_errno=True).setns(int(fd), 0x40000000) != 0:
    sys.exit("setns: " + os.strerror(ctypes.get_errno()))


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client):
    try:
        server = socket.create_connection((target_address, int(target_port)))
    except OSError:
        client.close()
        return
    threading.Thread(target=copy, args=(client, server), daemon=True).start()
    copy(server, client)


while True:
    connection, _ = listener.accept()
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
