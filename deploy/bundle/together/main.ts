// All services in one process, for the smallest installation: they meet on NATS as always. A variable with a service's name before
// it, as `CRM__MYSQL_URL`, is for that service alone. What one process cannot give: the end of one is the end of all, and they share
// one core. They stop in the reverse order: the edge first.
import '../../../services/access/main.ts';
import '../../../services/crm/main.ts';
import '../../../services/webhooks/main.ts';
import '../../../services/dispatcher/main.ts';
import '../../../services/gateway/main.ts';
