local early = load()
if early then return early end
local gone = lost()
if gone then return commit(gone) end
local call = the_call()
if call and call.run_op == R.op then
  if call.state == 'started' then return commit({k = 'Go', run = call.runs}) end
  if call.state == 'task' then return commit({k = 'TaskOffered', revision = call.revision}) end
end
if not call or not GRANTED[call.state] then return commit(refused(M.stop and 'stopped' or 'not_asked', call)) end
if call.revision ~= R.revision or call.digest ~= R.digest then return commit(refused('changed', call)) end
if R.policy ~= (redis.call('GET', POLICY) or '') then return commit(refused('policy_moved', call)) end
if call.grant_until and now >= call.grant_until then
  lapse(call)
  return commit(refused('lapsed', call))
end
if held_up(call) then return commit(refused('not_yet', call)) end
record('start', R.actor)
M.tries = 0
call.run_op, call.policy = R.op, R.policy
if call.external then
  ask(call, 'task', 'task')
  put(call, R.actor)
  return commit({k = 'TaskOffered', revision = call.revision})
end
call.state, call.runs, call.grant_until = 'started', call.runs + 1, nil
put(call, R.actor)
return commit({k = 'Go', run = call.runs})
