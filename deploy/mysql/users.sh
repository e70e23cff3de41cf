# Sourced by the entry point of MySQL's image when it sets a new volume up. The migrations' user, which the image has
# made, becomes one that can give its rights on; the migration job then gives the services' users what they need.
docker_process_sql <<SQL
CREATE USER 'causeway_access'@'%' IDENTIFIED BY '$MYSQL_PASSWORD_ACCESS';
CREATE USER 'causeway_crm'@'%' IDENTIFIED BY '$MYSQL_PASSWORD_CRM';
CREATE USER 'causeway_webhooks'@'%' IDENTIFIED BY '$MYSQL_PASSWORD_WEBHOOKS';
CREATE USER 'causeway_dispatcher'@'%' IDENTIFIED BY '$MYSQL_PASSWORD_DISPATCHER';
CREATE USER 'causeway_monitor'@'%' IDENTIFIED BY '$MYSQL_PASSWORD_MONITOR';
GRANT REPLICATION CLIENT ON *.* TO 'causeway_monitor'@'%';
GRANT ALL ON \`$MYSQL_DATABASE\`.* TO '$MYSQL_USER'@'%' WITH GRANT OPTION;
SQL
