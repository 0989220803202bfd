module dbrender/testbed/pause

go 1.24.0
