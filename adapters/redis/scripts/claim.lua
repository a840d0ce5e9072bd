-- Answers with the records as well: what the worker goes on from is what this step saw.
local early = load()
if early then return early end
local result
if M.state == 'running' and M.claim_op == R.op then
  result = commit({k = 'Claimed', fence = M.fence, lease_until = M.lease_until})
elseif M.state ~= 'ready' then
  return commit({k = 'NotReady', state = M.state})
else
  record('claim', R.actor)
  M.state, M.fence, M.claim_op, M.tries = 'running', M.fence + 1, R.op, M.tries + 1
  M.lease_until, M.wake_at = now + R.lease_ms, nil
  result = commit({k = 'Claimed', fence = M.fence, lease_until = M.lease_until})
end
return {result[1], redis.call('HGETALL', REPLY), redis.call('HGETALL', SESSION), redis.call('LRANGE', QUEUE, 0, -1)}
