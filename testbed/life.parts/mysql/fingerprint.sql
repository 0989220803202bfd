-- One line for each thing that a restore has to bring back. Not in it: what dbrender keeps for itself, passwords, and whether a user is locked.
SELECT 'user', user, host FROM mysql.user WHERE user NOT IN ('restore');
SELECT 'grant', user, host, db, select_priv, insert_priv, update_priv, delete_priv, create_priv, drop_priv FROM mysql.db WHERE user NOT IN ('restore');
SELECT 'member', from_user, from_host, to_user, to_host FROM mysql.role_edges;
SELECT 'database', schema_name, default_character_set_name, default_collation_name FROM information_schema.schemata WHERE schema_name <> 'dbrender';
SELECT 'table', table_schema, table_name, table_type, engine, table_collation, create_options, table_comment FROM information_schema.tables
  WHERE table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'dbrender');
SELECT 'column', table_schema, table_name, column_name, ordinal_position, column_default, is_nullable, column_type, collation_name, extra, generation_expression
  FROM information_schema.columns WHERE table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'dbrender');
SELECT 'index', table_schema, table_name, index_name, seq_in_index, column_name, non_unique, collation, index_type, expression
  FROM information_schema.statistics WHERE table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'dbrender');
SELECT 'constraint', constraint_schema, table_name, constraint_name, constraint_type FROM information_schema.table_constraints
  WHERE constraint_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'dbrender');
SELECT 'view', table_schema, table_name, definer, security_type, SHA2(view_definition, 256) FROM information_schema.views WHERE table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'dbrender');
SELECT 'routine', routine_schema, routine_name, routine_type, definer, sql_mode, SHA2(routine_definition, 256) FROM information_schema.routines WHERE routine_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'dbrender');
SELECT 'trigger', trigger_schema, trigger_name, event_object_table, action_timing, event_manipulation, definer, SHA2(action_statement, 256) FROM information_schema.triggers
  WHERE trigger_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema', 'dbrender');
SELECT 'event', event_schema, event_name, definer, status, interval_value, interval_field, starts, SHA2(event_definition, 256) FROM information_schema.events WHERE event_schema <> 'sys';
