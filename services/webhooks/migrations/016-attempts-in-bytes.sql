-- What of an attempt's request does not follow from its row (services/deliveries/stored-attempt.ts). The response's headers
-- and body are then together in `response_body`, so that an older release that erases a person erases both. Null: the
-- headers were stored whole, as JSON.
ALTER TABLE delivery_attempts ADD COLUMN sent VARBINARY(500), ALGORITHM = INSTANT;
