-- ARGV[2]: the content anew, sealed, or empty.
local early = load()
if early then return early end
local gone = lost()
if gone then return commit(gone) end
local call = the_call()
if not call or call.state ~= 'waiting' then return commit(refused('not_asked', call)) end
for _, id in ipairs(present) do
  local other = C[id]
  if other.state == 'waiting' and other.position < call.position
     or other.state ~= 'waiting' and not FINAL[other.state] then
    return commit(refused('not_yet', call))
  end
end
if R.policy ~= (redis.call('GET', POLICY) or '') then return commit(refused('policy_moved', call)) end
record('check', R.actor, R.note)
call.policy = R.policy
if ARGV[2] ~= '' then
  call.content_tag = R.tag
  blobs['content:' .. call.id] = ARGV[2]
end
if R.state == 'denied' then
  close(call, 'denied', 'deny', R.actor, R.note)
else
  call.state = R.state
  if R.state == 'open' then call.asked_at, call.deadline = now, now + call.timeout_ms end
  put(call, R.actor)
end
return commit({k = 'Checked', state = R.state})
