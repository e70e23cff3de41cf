-- The next id that no block holds (services/runtime/database/ids.ts). Vitess has sequences of the same form.
CREATE TABLE clients_seq (
  id BIGINT NOT NULL,
  next_id BIGINT,
  cache BIGINT,
  PRIMARY KEY (id)
) COMMENT = 'vitess_sequence';
CREATE TABLE client_notes_seq LIKE clients_seq;
CREATE TABLE employees_seq LIKE clients_seq;
CREATE TABLE events_seq LIKE clients_seq;
INSERT INTO clients_seq (id, next_id, cache) VALUES (0, 1, 1000);
INSERT INTO client_notes_seq (id, next_id, cache) VALUES (0, 1, 1000);
INSERT INTO employees_seq (id, next_id, cache) VALUES (0, 1, 1000);
INSERT INTO events_seq (id, next_id, cache) VALUES (0, 1, 1000);
-- A writer locks the person, and an erased person goes before the notes (`erasures.ts`).
ALTER TABLE client_notes DROP FOREIGN KEY note_client, ALGORITHM = INPLACE, LOCK = NONE;
ALTER TABLE client_status_history DROP FOREIGN KEY history_client, ALGORITHM = INPLACE, LOCK = NONE;
