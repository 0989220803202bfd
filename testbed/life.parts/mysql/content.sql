-- What a backup has to bring back, beside the numbered rows: written by the application's user through the Service.
CREATE TABLE numbered (n BIGINT PRIMARY KEY, payload TEXT NOT NULL, at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6));
CREATE TABLE customer (
  id BIGINT AUTO_INCREMENT PRIMARY KEY,
  `Full ``Name``` VARCHAR(200) NOT NULL UNIQUE,
  tags JSON,
  picture BLOB,
  kind ENUM('new', 'old', 'Zurück''') NOT NULL DEFAULT 'new',
  marks SET('a', 'b')
) AUTO_INCREMENT = 1000;
INSERT INTO customer (`Full ``Name```, tags, picture, kind, marks) VALUES
  ('Ünïcode 漢字 🐘', '{"b": [1, 2.50, null], "a": "é"}', X'00FF100D0A1A27', 'Zurück''', 'a,b'),
  ('Tab\tand\nline\\ quote'' "', NULL, NULL, 'old', '');
CREATE TABLE item (
  id BIGINT NOT NULL AUTO_INCREMENT,
  customer BIGINT NOT NULL,
  price DECIMAL(12, 2) NOT NULL CHECK (price >= 0),
  pieces INT NOT NULL,
  total DECIMAL(14, 2) AS (price * pieces) STORED,
  sold DATE NOT NULL,
  PRIMARY KEY (id),
  KEY open_items ((pieces % 5), sold DESC),
  CONSTRAINT of_customer FOREIGN KEY (customer) REFERENCES customer (id) ON DELETE CASCADE
);
INSERT INTO item (customer, price, pieces, sold)
  WITH RECURSIVE g (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 400) SELECT 1000 + i % 2, i * 1.07, 1 + i % 9, DATE '2025-11-01' + INTERVAL i DAY FROM g;
CREATE TABLE parted (id INT NOT NULL, sold DATE NOT NULL, PRIMARY KEY (id, sold)) PARTITION BY RANGE (YEAR(sold)) (
  PARTITION p2025 VALUES LESS THAN (2026), PARTITION rest VALUES LESS THAN MAXVALUE);
INSERT INTO parted SELECT id, sold FROM item;
CREATE TABLE odd (number DOUBLE, exact DECIMAL(65, 30), at DATETIME(6), span TIME(3), y YEAR, bits BIT(9), place POINT);
INSERT INTO odd VALUES (0.1 + 0.2, 12345678901234567890123456789012345.123456789012345678901234567891, '1000-01-01 00:00:00.000001', '-838:59:59.000', 2155, b'101', ST_GeomFromText('POINT(1 2)')),
  (-1.7976931348623157E308, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE searched (id INT PRIMARY KEY, text TEXT, FULLTEXT KEY (text)) DEFAULT CHARACTER SET latin1;
INSERT INTO searched VALUES (1, 'Grüße an alle'), (2, NULL);
CREATE TABLE noted (what VARCHAR(100));
CREATE VIEW open_items AS SELECT c.id, SUM(i.total) AS total FROM item i JOIN customer c ON c.id = i.customer GROUP BY c.id;
