require "json"
require "openssl"
require "webrick" # gem install webrick

# The subscription's signing secret, whole: whsec_…
SECRET = ENV.fetch("WEBHOOK_SECRET")
abort "WEBHOOK_SECRET is empty" if SECRET.empty?

def genuine?(body, timestamp, signatures)
  return false if (Time.now.to_i - timestamp.to_i).abs > 300

  expected = "sha256=#{OpenSSL::HMAC.hexdigest("SHA256", SECRET, "#{timestamp}.#{body}")}"
  # While a secret is being renewed there are two signatures, with a comma between them.
  signatures.to_s.split(",").any? { |one| OpenSSL.secure_compare(one.strip, expected) }
end

server = WEBrick::HTTPServer.new(Port: ENV.fetch("PORT", "3000").to_i)
server.mount_proc("/") do |request, response|
  # The bytes exactly as they came: parse them only after the check.
  body = request.body.to_s
  if genuine?(body, request["X-Webhook-Timestamp"], request["X-Webhook-Signature"])
    event = JSON.parse(body)
    puts event["type"]
    response.status = 204
  else
    response.status = 401
  end
end
server.start
