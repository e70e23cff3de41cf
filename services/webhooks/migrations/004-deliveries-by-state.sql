-- How many of a subscription's deliveries are held, and which have failed, is asked for often: to show it, to
-- release them, to make them again. In each state they are found in the order of their events.
ALTER TABLE deliveries
  DROP KEY of_subscription,
  ADD KEY by_state (company_id, subscription_id, state, event_id);
