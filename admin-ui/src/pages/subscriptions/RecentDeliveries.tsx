export function RecentDeliveries(_: { readonly subscriptionId: number }) {
  return null;
}
