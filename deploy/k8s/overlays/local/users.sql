-- The services' users, with the password of `mysql-users`; the migration job gives them what they need.
CREATE USER 'causeway_access'@'%' IDENTIFIED BY 'local-mysql';
CREATE USER 'causeway_crm'@'%' IDENTIFIED BY 'local-mysql';
CREATE USER 'causeway_webhooks'@'%' IDENTIFIED BY 'local-mysql';
CREATE USER 'causeway_dispatcher'@'%' IDENTIFIED BY 'local-mysql';
GRANT ALL ON causeway.* TO 'causeway'@'%' WITH GRANT OPTION;
