-- An event can have several deliveries to a subscription, one for each replay. Only an index with all columns of the
-- order avoids sorting.
ALTER TABLE deliveries
  DROP KEY by_state,
  ADD KEY by_state (company_id, subscription_id, state, event_id, replay_id);
