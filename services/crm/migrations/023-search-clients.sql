-- Which entries of the search index are a client's, to compact it and to erase people.
ALTER TABLE client_search_entries ADD KEY client (company_id, client_id), ALGORITHM = INPLACE, LOCK = NONE;
