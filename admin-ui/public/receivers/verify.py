import hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

# The subscription's signing secret, whole: whsec_...
SECRET = os.environ["WEBHOOK_SECRET"].encode()
if not SECRET:
    raise SystemExit("WEBHOOK_SECRET is empty")


def is_genuine(body, timestamp, signatures):
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    digest = hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    expected = b"sha256=" + digest.encode()
    # While a secret is being renewed there are two signatures, with a comma between them.
    return any(hmac.compare_digest(one.strip().encode(), expected) for one in signatures.split(","))


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # The bytes exactly as they came: parse them only after the check.
        body = self.rfile.read(int(self.headers["Content-Length"]))
        timestamp = self.headers.get("X-Webhook-Timestamp", "")
        genuine = is_genuine(body, timestamp, self.headers.get("X-Webhook-Signature", ""))
        if genuine:
            event = json.loads(body)
            print(event["type"], event["payload"])
        self.send_response(204 if genuine else 401)
        self.end_headers()


HTTPServer(("", int(os.environ.get("PORT", 3000))), Receiver).serve_forever()
