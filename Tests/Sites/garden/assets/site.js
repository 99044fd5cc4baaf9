const beds = await (await fetch("data/beds.json")).json();
document.querySelector("#beds").textContent = `${beds.length} beds`;
