# CAUSEWAY_KEY holds an API key that may create and change records.
require "json"
require "net/http"

response = Net::HTTP.post(
  URI("__BASE_URL__/integrations/leads"),
  { first_name: "Ada", last_name: "Lovelace", email: "ada@example.com", external_id: "form-1" }.to_json,
  "X-Api-Key" => ENV.fetch("CAUSEWAY_KEY"),
  "Content-Type" => "application/json"
)
answer = JSON.parse(response.body)
raise "#{response.code}: #{answer["error"]}" unless response.is_a?(Net::HTTPSuccess)

puts "Lead #{answer["client_id"]}"
