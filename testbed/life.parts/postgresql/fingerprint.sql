-- One line for each thing of this database that a restore has to bring back, with a checksum where it is long. Read as superuser,
-- the same text for the same content, whatever the ids and the order on disk. Not in it: what dbrender keeps for itself
-- (schema dbrender, role restore), and passwords.
SET search_path = pg_catalog;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET bytea_output = 'hex';
CREATE TEMP VIEW spaces AS SELECT oid, nspname, nspowner, nspacl FROM pg_namespace
  WHERE nspname !~ '^pg_' AND nspname NOT IN ('information_schema', 'dbrender');
CREATE FUNCTION pg_temp.rights(acl aclitem[]) RETURNS text LANGUAGE sql AS $$
  SELECT string_agg(one, ' ' ORDER BY one) FROM aclexplode(acl), format('%s=%s%s/%s', CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee) END,
    privilege_type, CASE WHEN is_grantable THEN '*' END, pg_get_userbyid(grantor)) one $$;

SELECT 'role', rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls, rolconnlimit, rolvaliduntil
  FROM pg_roles WHERE rolname !~ '^pg_' AND rolname <> 'restore';
SELECT 'member', pg_get_userbyid(member), pg_get_userbyid(roleid), admin_option FROM pg_auth_members
  WHERE pg_get_userbyid(member) !~ '^pg_' AND pg_get_userbyid(member) <> 'restore';
SELECT 'setting', coalesce(d.datname, '*'), CASE setrole WHEN 0 THEN '*' ELSE pg_get_userbyid(setrole) END, array_to_string(setconfig, ' ')
  FROM pg_db_role_setting LEFT JOIN pg_database d ON d.oid = setdatabase WHERE setrole = 0 OR pg_get_userbyid(setrole) <> 'restore';
SELECT 'database', datname, pg_get_userbyid(datdba), pg_encoding_to_char(encoding), datcollate, datctype, datconnlimit,
  pg_temp.rights(coalesce(datacl, acldefault('d', datdba))) FROM pg_database WHERE NOT datistemplate;

SELECT 'schema', nspname, pg_get_userbyid(nspowner), pg_temp.rights(coalesce(nspacl, acldefault('n', nspowner))), obj_description(oid, 'pg_namespace') FROM spaces;
SELECT 'relation', nspname, relname, relkind, relpersistence, relrowsecurity, relforcerowsecurity, pg_get_userbyid(relowner),
  pg_temp.rights(coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner))),
  CASE WHEN relispartition THEN pg_get_expr(relpartbound, c.oid) END, pg_get_partkeydef(c.oid), array_to_string(reloptions, ' ')
  FROM pg_class c JOIN spaces s ON s.oid = relnamespace WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'c');
SELECT 'column', nspname, relname, row_number() OVER (PARTITION BY attrelid ORDER BY attnum), attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, pg_get_expr(adbin, adrelid),
  attcollation::regcollation, pg_temp.rights(attacl)
  FROM pg_attribute JOIN pg_class c ON c.oid = attrelid JOIN spaces s ON s.oid = relnamespace LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p', 'v', 'm', 'f', 'c');
SELECT 'index', nspname, pg_get_indexdef(indexrelid), indisvalid FROM pg_index JOIN pg_class c ON c.oid = indrelid JOIN spaces s ON s.oid = relnamespace;
SELECT 'constraint', nspname, coalesce(conrelid::regclass::text, contypid::regtype::text), conname, pg_get_constraintdef(c.oid), convalidated
  FROM pg_constraint c JOIN spaces s ON s.oid = connamespace;
SELECT 'view', nspname, relname, md5(pg_get_viewdef(c.oid)) FROM pg_class c JOIN spaces s ON s.oid = relnamespace WHERE relkind IN ('v', 'm');
SELECT 'function', nspname, md5(pg_get_functiondef(p.oid)), pg_get_userbyid(proowner), pg_temp.rights(coalesce(proacl, acldefault('f', proowner)))
  FROM pg_proc p JOIN spaces s ON s.oid = pronamespace WHERE prokind <> 'a';
SELECT 'trigger', pg_get_triggerdef(t.oid), tgenabled FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid JOIN spaces s ON s.oid = relnamespace WHERE NOT tgisinternal;
SELECT 'policy', polrelid::regclass, polname, polcmd, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid) FROM pg_policy;
SELECT 'type', nspname, typname, typtype, pg_get_userbyid(typowner), format_type(typbasetype, typtypmod),
  (SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid)
  FROM pg_type t JOIN spaces s ON s.oid = typnamespace WHERE typcategory <> 'A';
SELECT 'sequence', seqrelid::regclass, format_type(seqtypid, NULL), seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle
  FROM pg_sequence JOIN pg_class c ON c.oid = seqrelid JOIN spaces s ON s.oid = relnamespace;
SELECT 'default rights', coalesce(nspname, '*'), pg_get_userbyid(defaclrole), defaclobjtype, pg_temp.rights(defaclacl)
  FROM pg_default_acl LEFT JOIN pg_namespace n ON n.oid = defaclnamespace;
SELECT 'extension', extname, extversion FROM pg_extension;
SELECT 'large object', oid, pg_get_userbyid(lomowner), pg_temp.rights(coalesce(lomacl, acldefault('L', lomowner))), md5(lo_get(oid)) FROM pg_largeobject_metadata;

SELECT format('SELECT %L, last_value, is_called FROM %s', 'at ' || c.oid::regclass, c.oid::regclass)
  FROM pg_class c JOIN spaces s ON s.oid = relnamespace WHERE relkind = 'S' ORDER BY 1 \gexec
SELECT format('SELECT %L, count(*), md5(string_agg(md5(r::text), '''' ORDER BY md5(r::text))) FROM ONLY %s r', 'rows of ' || c.oid::regclass, c.oid::regclass)
  FROM pg_class c JOIN spaces s ON s.oid = relnamespace WHERE relkind IN ('r', 'm') ORDER BY 1 \gexec
