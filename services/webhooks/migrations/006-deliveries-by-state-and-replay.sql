-- An event can have several deliveries to a subscription, told apart by their replays: only an index that names
-- all columns of an order spares the sorting.
ALTER TABLE deliveries
  DROP KEY by_state,
  ADD KEY by_state (company_id, subscription_id, state, event_id, replay_id);
