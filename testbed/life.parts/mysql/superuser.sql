-- Users of others and a second database, made on the primary's socket.
CREATE USER analyst@'10.%' IDENTIFIED BY 'a password';
CREATE ROLE reader;
GRANT SELECT ON app.* TO reader;
GRANT reader TO analyst@'10.%';
CREATE DATABASE `Zweite Datenbank` CHARACTER SET latin1 COLLATE latin1_german2_ci;
GRANT SELECT, INSERT ON `Zweite Datenbank`.* TO analyst@'10.%';
CREATE TABLE `Zweite Datenbank`.report (id INT PRIMARY KEY, text TEXT);
INSERT INTO `Zweite Datenbank`.report WITH RECURSIVE g (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 100) SELECT i, SHA2(i, 256) FROM g;
