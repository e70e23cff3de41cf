import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Verify {
    // The subscription's signing secret, whole: whsec_…
    static final byte[] SECRET = System.getenv("WEBHOOK_SECRET").getBytes();

    static boolean isGenuine(byte[] body, String timestamp, String signatures) throws Exception {
        if (timestamp == null || signatures == null || !timestamp.matches("\\d{1,15}")) return false;
        if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) > 300) return false;
        var mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(SECRET, "HmacSHA256"));
        mac.update((timestamp + ".").getBytes());
        var expected = ("sha256=" + HexFormat.of().formatHex(mac.doFinal(body))).getBytes();
        // While a secret is being renewed there are two signatures, with a comma between them.
        for (var one : signatures.split(","))
            if (MessageDigest.isEqual(one.trim().getBytes(), expected)) return true;
        return false;
    }

    public static void main(String[] args) throws Exception {
        if (SECRET.length == 0) throw new IllegalStateException("WEBHOOK_SECRET is empty");
        var port = Integer.parseInt(System.getenv().getOrDefault("PORT", "3000"));
        var server = HttpServer.create(new InetSocketAddress(port), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                // The bytes exactly as they came: parse them only after the check.
                var body = exchange.getRequestBody().readAllBytes();
                var headers = exchange.getRequestHeaders();
                var genuine = isGenuine(
                    body, headers.getFirst("X-Webhook-Timestamp"), headers.getFirst("X-Webhook-Signature"));
                if (genuine) System.out.println(new String(body));
                exchange.sendResponseHeaders(genuine ? 204 : 401, -1);
            } catch (Exception error) {
                error.printStackTrace();
            }
        });
        server.start();
    }
}
