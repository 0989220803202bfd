-- What a backup has to bring back, beside the numbered rows: written by the application's role through the Service.
CREATE TABLE numbered (n bigint PRIMARY KEY, payload text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());

CREATE SCHEMA shop;
COMMENT ON SCHEMA shop IS 'What is sold, and to whom';
GRANT USAGE ON SCHEMA shop TO reader;
CREATE TYPE shop.state AS ENUM ('new', 'paid', 'sent', 'Zurück''');
CREATE TYPE shop.address AS (street text, place text);
CREATE DOMAIN shop.amount AS numeric(12, 2) CHECK (VALUE >= 0);
CREATE SEQUENCE shop.invoice START 1000 INCREMENT 7 CACHE 1;
SELECT nextval('shop.invoice'), nextval('shop.invoice');
CREATE SEQUENCE shop.untouched MINVALUE -5 MAXVALUE 5 CYCLE;

CREATE TABLE shop.customer (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  "Full Name" text NOT NULL UNIQUE,
  home shop.address,
  tags text[] NOT NULL DEFAULT '{}',
  notes jsonb,
  key uuid NOT NULL,
  picture bytea
);
INSERT INTO shop.customer ("Full Name", home, tags, notes, key, picture) VALUES
  ('Ünïcode 漢字 🐘', ROW('Rue "A", 1', 'Genève'), ARRAY['a,b', '{}', NULL, ''], '{"b": [1, 2.50, null], "a": "\u00e9"}', '00000000-0000-4000-8000-000000000001', '\x00ff10'),
  (E'Tab\tand\nline\\', NULL, '{}', NULL, '00000000-0000-4000-8000-000000000002', NULL);
CREATE TABLE shop.item (
  invoice bigint NOT NULL DEFAULT nextval('shop.invoice'),
  customer bigint NOT NULL REFERENCES shop.customer ON DELETE CASCADE,
  state shop.state NOT NULL DEFAULT 'new',
  price shop.amount NOT NULL,
  pieces integer NOT NULL CHECK (pieces > 0),
  total numeric GENERATED ALWAYS AS (price * pieces) STORED,
  sold date NOT NULL,
  PRIMARY KEY (invoice, sold)
) PARTITION BY RANGE (sold);
CREATE TABLE shop.item_2025 PARTITION OF shop.item FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE shop.item_rest PARTITION OF shop.item DEFAULT;
INSERT INTO shop.item (customer, state, price, pieces, sold)
  SELECT 1 + g % 2, (enum_range(NULL::shop.state))[1 + g % 4], g * 1.07, 1 + g % 9, date '2025-11-01' + g FROM generate_series(1, 400) g;
CREATE INDEX item_open ON shop.item ((pieces % 5), sold DESC) WHERE state <> 'sent';
CREATE TABLE shop.odd (number double precision, single real, exact numeric, at timestamptz, span interval, net inet, during tstzrange, bits bit varying(9));
INSERT INTO shop.odd VALUES
  ('NaN', '-Infinity', 'NaN', 'infinity', '-1 year 2 days -03:04:05.678901', '2001:db8::/32', 'empty', B'101'),
  (0.1::float8 + 0.2, 1e-37, 123456789012345678901234567890.000000001, '0044-03-15 12:00:00+00 BC', '0', '10.0.0.1', '[2025-01-01 00:00+00,)', B''),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE UNLOGGED TABLE shop.cache (key text PRIMARY KEY, value text);
INSERT INTO shop.cache VALUES ('k', 'v');
CREATE TABLE shop.nothing ();

CREATE VIEW shop.open_items AS SELECT c."Full Name", sum(i.total) AS total FROM shop.item i JOIN shop.customer c ON c.id = i.customer WHERE i.state <> 'sent' GROUP BY 1;
CREATE MATERIALIZED VIEW shop.sales AS SELECT sold, count(*) AS items FROM shop.item GROUP BY sold;
CREATE FUNCTION shop.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.value := upper(NEW.value); RETURN NEW; END $$;
CREATE TRIGGER note BEFORE INSERT ON shop.cache FOR EACH ROW EXECUTE FUNCTION shop.note();
CREATE TABLE shop.hidden (owner name NOT NULL DEFAULT current_user, secret text);
INSERT INTO shop.hidden VALUES (DEFAULT, 'mine'), ('someone', 'theirs');
ALTER TABLE shop.hidden ENABLE ROW LEVEL SECURITY;
ALTER TABLE shop.hidden FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON shop.hidden USING (owner = current_user);
GRANT SELECT ON shop.item, shop.open_items TO reader;
GRANT SELECT (id, "Full Name") ON shop.customer TO reader WITH GRANT OPTION;
ALTER DEFAULT PRIVILEGES IN SCHEMA shop GRANT SELECT ON TABLES TO reader;

SELECT lo_from_bytea(0, decode(repeat('00ff42', 30000), 'hex'));
SELECT lo_from_bytea(0, '\x');
