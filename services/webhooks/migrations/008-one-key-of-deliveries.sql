-- One key in place of two: it orders waiting deliveries by due time, and all others, which have none, by event. Moving
-- rows between states is most of the cost of a delivery here.
ALTER TABLE deliveries
  DROP KEY due,
  DROP KEY by_state,
  ADD KEY by_state (company_id, subscription_id, state, due_utc, event_id, replay_id),
  ALGORITHM = INPLACE, LOCK = NONE;
