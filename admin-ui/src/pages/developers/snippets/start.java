import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

// CAUSEWAY_KEY holds an API key that may create and change records.
class Start {
    public static void main(String[] args) throws Exception {
        var body = """
            {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com", "external_id": "form-1"}""";
        var request = HttpRequest.newBuilder(URI.create("__BASE_URL__/integrations/leads"))
            .header("X-Api-Key", System.getenv("CAUSEWAY_KEY"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        var response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        if (response.statusCode() >= 300) throw new RuntimeException(response.body());
        System.out.println(response.body());
    }
}
