local early = load()
if early then return early end
if M.state == 'queued' or M.state == 'closed' then
  return commit({k = 'NothingToStop', state = M.state, outcome = M.outcome}, true)
end
if M.stop then return commit({k = 'AlreadyStopping', by = M.stop.actor, at = M.stop.at}, true) end
record('stop', R.actor)
M.stop = {actor = R.actor, at = now}
local ids = count(present, function(c) return not FINAL[c.state] and c.state ~= 'started' end)
for _, id in ipairs(ids) do withdraw(C[id], R.actor) end
return commit({k = 'Stopping', withdrawn = ids, running = running()})
