<?php
// The subscription's signing secret, whole: whsec_…
$secret = getenv('WEBHOOK_SECRET') ?: throw new Exception('WEBHOOK_SECRET is not set');

function isGenuine(string $body, string $timestamp, string $signatures, string $secret): bool
{
    if (abs(time() - (int) $timestamp) > 300) return false;
    $expected = 'sha256=' . hash_hmac('sha256', "$timestamp.$body", $secret);
    // While a secret is being renewed there are two signatures, with a comma between them.
    foreach (explode(',', $signatures) as $one) {
        if (hash_equals($expected, trim($one))) return true;
    }
    return false;
}

// The bytes exactly as they came: parse them only after the check.
$body = file_get_contents('php://input');
$timestamp = $_SERVER['HTTP_X_WEBHOOK_TIMESTAMP'] ?? '';
$signatures = $_SERVER['HTTP_X_WEBHOOK_SIGNATURE'] ?? '';
if (!isGenuine($body, $timestamp, $signatures, $secret)) {
    http_response_code(401);
    exit;
}
$event = json_decode($body, true);
error_log($event['type']);
http_response_code(204);
