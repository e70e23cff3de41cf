-- Triggers, because the CRM's other modules write these tables too. They act with the rights of the migrations' user.
CREATE TRIGGER IF NOT EXISTS lookup_employee_added AFTER INSERT ON employees FOR EACH ROW
  INSERT INTO lookup_versions (company_id, version)
  SELECT NEW.company_id, UUID_SHORT() FROM DUAL WHERE NEW.listed_as IS NOT NULL
  ON DUPLICATE KEY UPDATE version = UUID_SHORT();

CREATE TRIGGER IF NOT EXISTS lookup_employee_changed AFTER UPDATE ON employees FOR EACH ROW
  INSERT INTO lookup_versions (company_id, version)
  SELECT changed.company_id, UUID_SHORT() FROM (SELECT OLD.company_id UNION SELECT NEW.company_id) AS changed
  WHERE NOT (
    OLD.company_id = NEW.company_id AND OLD.employee_id = NEW.employee_id AND OLD.listed_as <=> NEW.listed_as
    AND CAST(OLD.full_name AS BINARY) = CAST(NEW.full_name AS BINARY)
  )
  ON DUPLICATE KEY UPDATE version = UUID_SHORT();

CREATE TRIGGER IF NOT EXISTS lookup_employee_removed AFTER DELETE ON employees FOR EACH ROW
  INSERT INTO lookup_versions (company_id, version) VALUES (OLD.company_id, UUID_SHORT())
  ON DUPLICATE KEY UPDATE version = UUID_SHORT();

CREATE TRIGGER IF NOT EXISTS lookup_status_added AFTER INSERT ON statuses FOR EACH ROW
  INSERT INTO lookup_versions (company_id, version) VALUES (NEW.company_id, UUID_SHORT())
  ON DUPLICATE KEY UPDATE version = UUID_SHORT();

CREATE TRIGGER IF NOT EXISTS lookup_status_changed AFTER UPDATE ON statuses FOR EACH ROW
  INSERT INTO lookup_versions (company_id, version)
  SELECT changed.company_id, UUID_SHORT() FROM (SELECT OLD.company_id UNION SELECT NEW.company_id) AS changed
  ON DUPLICATE KEY UPDATE version = UUID_SHORT();

CREATE TRIGGER IF NOT EXISTS lookup_status_removed AFTER DELETE ON statuses FOR EACH ROW
  INSERT INTO lookup_versions (company_id, version) VALUES (OLD.company_id, UUID_SHORT())
  ON DUPLICATE KEY UPDATE version = UUID_SHORT();

-- Says that the triggers are there: without this row, crm reads the lists for each call.
INSERT INTO lookup_versions (company_id, version) VALUES (0, UUID_SHORT())
ON DUPLICATE KEY UPDATE version = UUID_SHORT();
