-- The held and failed deliveries of a subscription are often counted, released and replayed. This index finds the
-- deliveries in each state in the order of their events.
ALTER TABLE deliveries
  DROP KEY of_subscription,
  ADD KEY by_state (company_id, subscription_id, state, event_id);
