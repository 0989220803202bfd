-- Roles and a second database: made by the superuser, on the primary's socket.
CREATE ROLE reader NOLOGIN;
CREATE ROLE analyst LOGIN CONNECTION LIMIT 3 VALID UNTIL '2030-01-01 00:00:00+00' IN ROLE reader;
ALTER ROLE analyst SET statement_timeout = '90s';
CREATE DATABASE "Zweite Datenbank" OWNER analyst CONNECTION LIMIT 20;
ALTER DATABASE "Zweite Datenbank" SET work_mem = '5MB';
\connect "Zweite Datenbank"
CREATE TABLE report (id integer PRIMARY KEY, text text);
INSERT INTO report SELECT g, md5(g::text) FROM generate_series(1, 100) g;
ALTER TABLE report OWNER TO analyst;
