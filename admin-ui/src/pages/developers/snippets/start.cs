using System.Net.Http.Json;

// CAUSEWAY_KEY holds an API key that may create and change records.
using var client = new HttpClient();
client.DefaultRequestHeaders.Add("X-Api-Key", Environment.GetEnvironmentVariable("CAUSEWAY_KEY"));
var response = await client.PostAsJsonAsync("__BASE_URL__/integrations/leads", new
{
    first_name = "Ada",
    last_name = "Lovelace",
    email = "ada@example.com",
    external_id = "form-1",
});
Console.WriteLine(await response.Content.ReadAsStringAsync());
response.EnsureSuccessStatusCode();
