using System.Security.Cryptography;
using System.Text;

// The subscription's signing secret, whole: whsec_…
var secret = Encoding.UTF8.GetBytes(Environment.GetEnvironmentVariable("WEBHOOK_SECRET")!);
if (secret.Length == 0) throw new InvalidOperationException("WEBHOOK_SECRET is empty");

bool IsGenuine(byte[] body, string timestamp, string signatures)
{
    if (!long.TryParse(timestamp, out var seconds)) return false;
    if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - seconds) > 300) return false;
    byte[] signed = [.. Encoding.UTF8.GetBytes($"{timestamp}."), .. body];
    var expected = Encoding.UTF8.GetBytes("sha256=" + Convert.ToHexStringLower(HMACSHA256.HashData(secret, signed)));
    // While a secret is being renewed there are two signatures, with a comma between them.
    return signatures.Split(',').Any(one =>
        CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(one.Trim()), expected));
}

var app = WebApplication.Create();
app.MapPost("/{**path}", async (HttpRequest request) =>
{
    // The bytes exactly as they came: parse them only after the check.
    using var copy = new MemoryStream();
    await request.Body.CopyToAsync(copy);
    var headers = request.Headers;
    var genuine = IsGenuine(
        copy.ToArray(), headers["X-Webhook-Timestamp"].ToString(), headers["X-Webhook-Signature"].ToString());
    return genuine ? Results.NoContent() : Results.Unauthorized();
});
app.Run($"http://*:{Environment.GetEnvironmentVariable("PORT") ?? "3000"}");
