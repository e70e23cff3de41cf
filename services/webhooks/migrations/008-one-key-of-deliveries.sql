-- One key where there were two: what waits lies in it by its time, and everything else, which has none, by its
-- event. A row's way from one state to the next is most of what a delivery costs here.
ALTER TABLE deliveries
  DROP KEY due,
  DROP KEY by_state,
  ADD KEY by_state (company_id, subscription_id, state, due_utc, event_id, replay_id),
  ALGORITHM = INPLACE, LOCK = NONE;
