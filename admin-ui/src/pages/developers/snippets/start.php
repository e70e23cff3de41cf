<?php
// CAUSEWAY_KEY holds an API key that may create and change records.
$curl = curl_init('__BASE_URL__/integrations/leads');
curl_setopt_array($curl, [
    CURLOPT_POST => true,
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => ['X-Api-Key: ' . getenv('CAUSEWAY_KEY'), 'Content-Type: application/json'],
    CURLOPT_POSTFIELDS => json_encode([
        'first_name' => 'Ada',
        'last_name' => 'Lovelace',
        'email' => 'ada@example.com',
        'external_id' => 'form-1',
    ]),
]);
$answer = json_decode(curl_exec($curl), true);
$status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
if ($status >= 300) throw new RuntimeException("$status: {$answer['error']}");
echo "Lead {$answer['client_id']}\n";
